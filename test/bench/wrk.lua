-- Prints what was measured as one line of JSON, after what wrk says itself.
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"perSecond":%f,"p95":%f,"bad":%d}\n',
    summary.requests / (summary.duration / 1e6),
    latency:percentile(95) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
