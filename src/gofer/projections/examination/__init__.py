"""The health of a run on one screen: verdicts, states, context, waste and unusual traits."""
