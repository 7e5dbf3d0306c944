import { ansiHtml } from '../web/ansi.ts'
import { levelOf } from './level.ts'

/** A line before it is stored. */
export type NewLine = {
  /** Milliseconds since 1970. */
  time: number
  stream: 'system' | 'stdout' | 'stderr'
  text: string
  /** Omitted when no container wrote it. */
  origin?: Origin | undefined
}

/** The process that a container runs; empty when unknown. */
export type Process = {
  process: string
  /** The number of the container, from 1; null for a process with only one. */
  replica: number | null
}

/** The process name of lines for requests that the edge served. */
export const accessProcess = 'access'

/** The container's name and its deployment; both are empty for lines of a job. */
export type Origin = Process & {
  deploymentId: string
  container: string
  /** The name of the server that it ran on, if there were several. */
  server?: string | undefined
}

/** A stored line, numbered from 1 within its log. */
export type Line = Omit<NewLine, 'origin'> & Origin & { sequence: number }

/**
 * A row of the viewer. The time is in UTC, and converted in the browser. A string, since rendering a JSX
 * element per line is too slow.
 */
export function lineHtml({ sequence, time, stream, text, ...origin }: Line) {
  const { deploymentId, process, server } = origin
  const shown = ansiHtml(text)
  const body = stream === 'system' && deploymentId ? withLink(shown, deploymentId) : shown
  const who = process && `<b>${processLabel(origin)}</b>`
  const where = server ? `<i>${server}</i>` : ''
  return `<div class="${classesOf({ stream, text })}" id="L${sequence}"><a href="#L${sequence}" tabindex="-1">${timeHtml(time)}</a>${who}${where}<span>${body}</span></div>`
}

/** A row's classes, for its stream and level. */
export function classesOf({ stream, text }: Pick<Line, 'stream' | 'text'>) {
  const level = levelOf(text)
  const classes = stream === 'stdout' ? 'line' : `line ${stream}`
  return level ? `${classes} ${level}` : classes
}

/** Such as `web`, or `worker 2` for a process with several containers. */
export const processLabel = ({ process, replica }: Process) =>
  replica === null ? process : `${process} ${replica}`

export function timeHtml(time: number) {
  const at = new Date(time).toISOString()
  return `<time datetime="${at}">${at.slice(5, 23).replace('T', ' ')}</time>`
}

/** Links the deployment that a mark names; only works on the environment's page. */
function withLink(html: string, deploymentId: string) {
  const name = deploymentName(deploymentId)
  return html.replace(name, `<a href="../../deployments/${deploymentId}">${name}</a>`)
}

/** Ends like the name of its container. */
export const deploymentName = (id: string) => `deployment ${id.slice(-12)}`

export const lineJson = ({ sequence, time, stream, text, ...origin }: Line) => ({
  seq: sequence,
  time: new Date(time).toISOString(),
  stream,
  text,
  ...(origin.container !== '' && {
    deploymentId: origin.deploymentId || null,
    container: origin.container,
    process: origin.process || null,
    replica: origin.replica,
    server: origin.server ?? null,
  }),
})
