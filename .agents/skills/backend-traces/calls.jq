# The calls below each other, as they were made. A span whose parent is not in the input stands at the left. Use: jq -rs -f calls.jq
def place: [.start, (.entry | split(".") | map(tonumber? // 0)), .id];
. as $spans | (map(.id)) as $ids
| def below($depth):
    ("  " * $depth // "") + .name + " (" + (.ms | tostring) + " ms)" + (if .error == "" then "" else " ✗ " + .error end),
    (.id as $id | [$spans[] | select(.parent == $id)] | sort_by(place)[] | below($depth + 1));
  [$spans[] | select(.parent as $parent | $ids | index([$parent]) | not)] | sort_by(place)[] | below(0)
