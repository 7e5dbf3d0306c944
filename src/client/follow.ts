import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../platform/errors.ts'
import type { Server } from './call.ts'
import { note } from './say.ts'
import type { LogLine } from './types.ts'

/** Milliseconds between two attempts, and for all of them until the server is given up. */
const pauses = { first: 500, longest: 10_000, all: 10 * 60_000 }

/** Milliseconds without a byte, where the server sends one every 15 seconds. */
const silence = 45_000

/**
 * Follows the lines of a log to its end, or without an end. What a lost connection missed comes with the
 * next one: each line has a number, from which the server resumes.
 */
export async function* follow<Line extends LogLine = LogLine>(
  server: Server,
  path: string,
  { signal, after = 0 }: { signal: AbortSignal; after?: number },
): AsyncGenerator<Line> {
  let last = after
  let pause = pauses.first
  let lostAt: number | null = null
  const opened = () => {
    if (lostAt !== null) note('Connected again.')
    lostAt = null
  }
  for (;;) {
    try {
      for await (const { id, event, data } of events(server, path, { last, signal, opened })) {
        pause = pauses.first
        if (event === 'done') return
        if (event !== null) continue
        last = Number(id ?? last)
        yield JSON.parse(data) as Line
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      if (lostAt === null) note(`${(error as Error).message} Trying again…`)
      lostAt ??= performance.now()
      if (performance.now() - lostAt > pauses.all) throw error
      pause = Math.max((error as AppError).retryAfter ?? 0, 0) * 1000 || pause
    }
    await sleep(pause, undefined, { signal })
    pause = Math.min(pause * 2, pauses.longest)
  }
}

/** True for what a restart of the server, or a proxy before it, causes. */
export const isPassing = (error: unknown) =>
  error instanceof AppError &&
  ['unavailable', 'bad_gateway', 'timeout', 'too_many'].includes(error.code)

type ServerEvent = { id: string | null; event: string | null; data: string }

async function* events(
  server: Server,
  path: string,
  { last, signal, opened }: { last: number; signal: AbortSignal; opened: () => void },
): AsyncGenerator<ServerEvent> {
  const quiet = new AbortController()
  const lost = () =>
    quiet.abort(new AppError('unavailable', `The connection to ${server.url} was lost.`))
  const timer = setTimeout(lost, silence)
  try {
    const response = await server.ask(path, {
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(last) },
      signal: AbortSignal.any([signal, quiet.signal]),
    })
    const decoder = new TextDecoder()
    let text = ''
    let isOpen = false
    for await (const bytes of response.body!) {
      timer.refresh()
      text += decoder.decode(bytes, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      // the server begins with a comment, as a quiet log may have no line for hours
      if (blocks.length > 0 && !isOpen) opened()
      isOpen ||= blocks.length > 0
      for (const block of blocks) {
        const found = readEvent(block)
        if (found) yield found
      }
    }
    if (!isOpen) throw new AppError('unavailable', `${server.url} answered without the log.`)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `The connection to ${server.url} was lost.`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Null for a comment, with which the server keeps the connection open. */
function readEvent(block: string): ServerEvent | null {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/s.exec(line))
  const valueOf = (name: string) => fields.find((field) => field?.[1] === name)?.[2] ?? null
  const data = fields.flatMap((field) => (field?.[1] === 'data' ? [field[2]!] : []))
  if (data.length === 0) return null
  return { id: valueOf('id'), event: valueOf('event'), data: data.join('\n') }
}
