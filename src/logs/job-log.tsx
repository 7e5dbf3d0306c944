import type { LastLines } from './read-log.ts'
import { LogViewer } from './viewer.tsx'

type Props = {
  log: LastLines
  /** The URL of the page that shows it; its lines are below that. */
  page: string
  isOver: boolean
  heading?: string
  job?: string
  fills?: boolean
}

/** The log of a job, which is followed until that is over. */
export const JobLog = ({ log, page, isOver, heading = 'Log', ...more }: Props) => {
  const { lines, extent } = log
  const path = `${page}/logs`
  return (
    <LogViewer
      {...{ ...log, ...more, path, page, heading }}
      note={lines.length < extent.last ? `The last ${lines.length} of ${extent.last} lines.` : null}
      stream={isOver ? null : path}
      endsWithDone
    />
  )
}
