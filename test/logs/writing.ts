import type { NewLine } from '../../src/logs/log-line.tsx'
import type { Logs } from '../../src/logs/logs.ts'
import type { Cursor } from '../../src/logs/store.ts'

/** Writes lines as if the container of the cursor had written them. */
export const writeOutput = (
  { logs }: { logs: Logs },
  { sourceId, deploymentId, name }: Pick<Cursor, 'sourceId' | 'deploymentId' | 'name'>,
  lines: NewLine[],
) => logs.write({ sourceId, logId: '' }, lines, { origin: { deploymentId, container: name } })
