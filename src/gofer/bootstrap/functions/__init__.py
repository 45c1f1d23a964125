"""What Lambda functions are made of; `handlers/` names one function a module. Ingress' parts stay light."""
