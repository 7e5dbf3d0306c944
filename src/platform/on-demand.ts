/**
 * A value that is loaded when it is first asked for, once for all who ask. A load that fails isn't kept:
 * the next one who asks starts another.
 */
export function onDemand<Value>(load: () => Value | Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  return () => {
    if (loading) return loading
    const own = (loading = Promise.try(load))
    own.catch(() => {
      if (loading === own) loading = undefined
    })
    return own
  }
}
