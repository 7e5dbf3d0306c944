/** Merges several sources as they yield; ends when all have ended. Leaving the loop ends them. */
export async function* merged<Item>(sources: AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const ready: { source: AsyncGenerator<Item>; result: Promise<IteratorResult<Item>> }[] = []
  let wake = () => {}
  // not by `Promise.race`: a quiet source would retain everything the others ever yielded
  const ask = (source: AsyncGenerator<Item>) => {
    const result = source.next()
    const arrive = () => {
      ready.push({ source, result })
      wake()
    }
    result.then(arrive, arrive)
  }
  for (const source of sources) ask(source)
  try {
    for (let open = sources.length; open > 0;) {
      if (ready.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const { source, result } = ready.shift()!
      const { done, value } = await result
      if (done) open--
      else {
        ask(source)
        yield value
      }
    }
  } finally {
    for (const source of sources) source.return(undefined).catch(() => {})
  }
}
