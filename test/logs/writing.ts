import type { NewLine, Process } from '../../src/logs/log-line.tsx'
import type { Logs } from '../../src/logs/logs.ts'

/** Writes lines as if a container had written them. */
export const writeOutput = (
  { logs }: { logs: Logs },
  {
    sourceId,
    deploymentId = '',
    name = 'app',
    process = '',
    replica = null,
  }: { sourceId: string; deploymentId?: string; name?: string } & Partial<Process>,
  lines: NewLine[],
) => {
  const origin = { deploymentId, container: name, process, replica }
  logs.write(
    { sourceId, logId: '' },
    lines.map((line) => ({ ...line, origin })),
  )
}
