# OTLP/JSON, as `gofer export --json` prints it, to one span a line for timeline.jq, calls.jq and errors.jq. Use: jq -c -f otlp.jq
def attribute($key): [.attributes[]? | select(.key == $key) | .value | .stringValue // .intValue // .doubleValue][0];
def milliseconds: .[:-6] | tonumber;
.resourceSpans[]?.scopeSpans[]?.spans[]?
| {
    trace: .traceId, id: .spanId, parent: (.parentSpanId // ""), run: attribute("gofer.run.id"), name,
    start: (.startTimeUnixNano | milliseconds),
    ms: ((.endTimeUnixNano | milliseconds) - (.startTimeUnixNano | milliseconds)),
    status: (attribute("gofer.status") // ""),
    error: (if .status.code == 2 then attribute("error.type") // "error" else "" end),
    entry: (attribute("gofer.entry") // "")
  }
