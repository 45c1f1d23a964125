"""The parts of Lambda functions. `handlers/` names one function a module; receivers' parts stay light."""
