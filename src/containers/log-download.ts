import type { Context } from 'hono'
import type { Docker } from '../docker/index.ts'
import { textFile } from '../web/text-file.ts'
import { noContainer } from './find.ts'
import { logFilter } from './log-filter.ts'
import type { ContainerLogQuery } from './log-forms.ts'
import type { Line } from './log-line.ts'
import { isGone, readLog } from './log-read.ts'
import type { LogSource } from './log-read.ts'

/** What the engine has as plain text with times. */
export async function downloadLog(
  c: Context,
  { docker }: { docker: Docker },
  { source, wanted }: { source: LogSource; wanted: ContainerLogQuery },
) {
  const { tail, since, until } = wanted
  const stopped = new AbortController()
  const signal = AbortSignal.any([c.req.raw.signal, stopped.signal])
  const batches = readLog(docker, source, { tail, since, until, signal })
  const passes = logFilter(wanted)
  let next = await batches.next().catch((error) => {
    throw isGone(error) ? noContainer() : error // while an answer can still say so
  })
  return textFile(c, {
    name: `container-${source.id.slice(0, 12)}.log`,
    pieces: texts(),
    stop: () => stopped.abort(),
  })

  async function* texts() {
    for (; !next.done; next = await batches.next()) {
      const text = textOf(passes ? next.value.filter(passes) : next.value)
      if (text !== '') yield text
    }
  }
}

const textOf = (lines: Line[]) =>
  lines.map(({ timestamp, text }) => `${timestamp} ${text}\n`).join('')
