"""The application: the only room that reads the environment and builds clients. `ingress` stays light."""
