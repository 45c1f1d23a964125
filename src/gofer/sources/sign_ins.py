"""The sign-in to the pages: the one system in which colleagues are members."""

from gofer.sources.serving import SignInSpec
from gofer.sources.slack.openid import SLACK_SIGN_IN

SIGN_IN: SignInSpec = SLACK_SIGN_IN
