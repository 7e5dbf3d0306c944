/** What comes from several sources, as it comes; ends when all have. Who leaves ends them. */
export async function* merged<Item>(sources: AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const coming = new Map(sources.map((source) => [source, next(source)]))
  try {
    while (coming.size > 0) {
      const { source, result } = await Promise.race(coming.values())
      if (result.done) coming.delete(source)
      else {
        coming.set(source, next(source))
        yield result.value
      }
    }
  } finally {
    for (const source of coming.keys()) source.return(undefined).catch(() => {})
  }
}

async function next<Item>(source: AsyncGenerator<Item>) {
  return { source, result: await source.next() }
}
