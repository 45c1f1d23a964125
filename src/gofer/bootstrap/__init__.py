"""Bootstrap: the only room that reads the environment or builds clients. `ingress` stays light, `worker` does not."""
