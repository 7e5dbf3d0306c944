export type ServerEvent = { id: string | null; name: string; data: string }

/** Reads server-sent events until the stream ends. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
}

/** Null for a block without data: a comment, or how long to wait before connecting again. */
function parseEvent(block: string): ServerEvent | null {
  const fields = new Map<string, string[]>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = line.match(/^([^:]*): ?(.*)$/) ?? []
    fields.set(name, [...(fields.get(name) ?? []), value])
  }
  const data = fields.get('data')?.join('\n')
  if (data === undefined) return null
  return { id: fields.get('id')?.[0] ?? null, name: fields.get('event')?.[0] ?? 'message', data }
}
