# The failed spans, oldest first: run, journal entry, name, error. Use: jq -rs -f errors.jq
map(select(.error != "")) | sort_by(.start, .id)[] | [.run, .entry, .name, .error] | @tsv
