import { join } from 'node:path'
import type { Row } from './ratio.ts'

/** MiB for each server that joins, and per cent of one processor at rest with all. */
const aims = { memory: 2, processor: 3 }

/** What other servers cost: three real engines, two of which join over ssh. */
export async function benchJoined(): Promise<Row[]> {
  const script = join(import.meta.dir, 'joined-davit.ts')
  const child = Bun.spawn([process.execPath, script], { stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('The servers do not join')
  const figures = JSON.parse(text) as { memory: number; processor: number }[]
  const [alone, ...joined] = figures
  const last = joined.at(-1)!
  const row = (what: string, unit: string, davit: number[], aim: number): Row => ({
    ...{ what, unit, davit, against: `${aim} ${unit}`, aim: '≤ 1' },
    floor: davit.map(() => aim),
  })
  const [first, ...others] = joined.map((one, n) => one.memory - figures[n]!.memory)
  const processor = [alone!, ...joined].map((one) => one.processor)
  return [
    row('memory for the first joined server, with its code', 'MiB', [first!], aims.memory),
    row('memory for each further one', 'MiB', others, aims.memory),
    row('processor at rest, alone', '% of one', [processor[0]!], aims.processor),
    row(
      `processor at rest, ${figures.length} servers`,
      '% of one',
      [last.processor],
      aims.processor,
    ),
  ]
}
