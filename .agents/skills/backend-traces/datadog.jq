# Spans, as Datadog's list of spans returns them, to the same lines as otlp.jq. Use: jq -c -f datadog.jq
def tag($key): [.tags[]? | select(startswith($key + ":")) | .[($key | length) + 1:]][0];
def milliseconds: . / 1000000 | round;
.data[]?.attributes
| {
    trace: .trace_id, id: .span_id, parent: (.parent_id // "" | if . == "undefined" or . == "0" then "" else . end),
    run: tag("gofer.run.id"), name,
    start: (.start_ns | milliseconds), ms: (.duration | milliseconds),
    status: (.status // ""),
    error: (if .status == "error" then tag("error.type") // "error" else "" end),
    entry: (tag("gofer.entry") // "")
  }
