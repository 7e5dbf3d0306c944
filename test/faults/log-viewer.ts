/** What all viewers of one log saw: the same line must be the same at each. */
export type Seen = Map<number, string>

type Options = {
  /** Of the log, with the query. */
  url: string
  authorization: string
  seen: Seen
  /** Lines after which it goes away, asked anew each time it comes. */
  stay: () => number
}

/** Reads a log as a browser does: after every end that is not the end it comes back for what follows. */
export async function viewToTheEnd({ url, authorization, seen, stay }: Options) {
  const viewer = { last: 0, wrong: 0, comebacks: -1 }
  for (let ended = false; !ended;) {
    viewer.comebacks++
    try {
      ended = await viewOnce()
    } catch {
      await Bun.sleep(50) // nobody listens: Davit is being started again
    }
  }
  return viewer

  /** True when the log came to its end. */
  async function viewOnce() {
    const leaving = new AbortController()
    const answer = await fetch(url, {
      headers: {
        Accept: 'text/event-stream',
        Authorization: authorization,
        ...(viewer.last > 0 && { 'Last-Event-ID': String(viewer.last) }),
      },
      signal: leaving.signal,
    })
    if (!answer.ok) throw new Error(`The log is answered ${answer.status}`)
    let left = stay()
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of answer.body!) {
      const text = rest + decoder.decode(bytes, { stream: true })
      const end = text.lastIndexOf('\n\n') + 2
      for (const [, id, data] of text.slice(0, end).matchAll(/^id: (\d+)\ndata: (.*)$/gm)) {
        take(Number(id), data!)
        if (--left > 0) continue
        leaving.abort()
        return false
      }
      if (text.slice(0, end).includes('event: done\n')) return true
      rest = text.slice(end)
    }
    return false
  }

  function take(id: number, data: string) {
    if (id !== viewer.last + 1) viewer.wrong++
    const known = seen.get(id)
    if (known === undefined) seen.set(id, data)
    else if (known !== data) viewer.wrong++
    viewer.last = id
  }
}
