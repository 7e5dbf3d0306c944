import type { NewLine, Process } from '../../src/logs/log-line.tsx'
import type { Logs } from '../../src/logs/logs.ts'
import type { Cursor } from '../../src/logs/cursor-store.ts'

/** Writes lines as if the container of the cursor had written them. */
export const writeOutput = (
  { logs }: { logs: Logs },
  {
    sourceId,
    deploymentId,
    name,
    process = '',
    replica = null,
  }: Pick<Cursor, 'sourceId' | 'deploymentId' | 'name'> & Partial<Process>,
  lines: NewLine[],
) => {
  const origin = { deploymentId, container: name, process, replica }
  logs.write(
    { sourceId, logId: '' },
    lines.map((line) => ({ ...line, origin })),
  )
}
