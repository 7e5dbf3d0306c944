/** Loads a value once, when it is first needed. A failed load isn't kept: the next call starts another. */
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
