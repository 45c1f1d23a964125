# When each step of each trace began, in milliseconds since the first, and how long it took. Use: jq -rs -f timeline.jq
def place: [.start, (.entry | split(".") | map(tonumber? // 0)), .id];
group_by(.trace)[] | sort_by(place) | .[0].start as $zero
| (["trace " + .[0].trace], (.[] | [.start - $zero, .ms, .name, if .error == "" then .status else "✗ " + .error end])) | @tsv
