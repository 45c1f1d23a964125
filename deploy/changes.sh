#!/usr/bin/env bash
# Says `code=false` when nothing but prompts and workflows changed since the commit that is deployed, else `code=true`.
set -euo pipefail
deployed="$(aws ssm get-parameter --name "/gofer-deployed/$STAGE" --query Parameter.Value --output text || true)"
if [[ "$deployed" =~ ^[0-9a-f]{40}$ ]] &&
	changed="$(git -c core.quotePath=off diff --no-renames --name-only "$deployed" HEAD)" &&
	! grep -qvE '^(agents|subagents|skills)/|^$' <<<"$changed"; then
	echo code=false
else
	echo code=true
fi
