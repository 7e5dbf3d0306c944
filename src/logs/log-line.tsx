import { ansiHtml } from '../web/ansi.ts'
import { levelOf } from './level.ts'

/** A line to be written. */
export type NewLine = {
  /** Milliseconds since 1970. */
  time: number
  stream: 'system' | 'stdout' | 'stderr'
  text: string
  /** Left out where no container wrote it. */
  origin?: Origin | undefined
}

/** Which process of an environment or service a container runs; empty where that isn't known. */
export type Process = {
  process: string
  /** Which of its containers it is, from 1; null where it has one only. */
  replica: number | null
}

/** The name under which a log has a line for each request that the edge served. */
export const accessProcess = 'access'

/** Which container wrote it, by its name, and for which deployment; both empty for lines of a job. */
export type Origin = Process & { deploymentId: string; container: string }

/** A line as it is kept: numbered from 1 within its log. */
export type Line = Omit<NewLine, 'origin'> & Origin & { sequence: number }

/**
 * A row of the viewer, with its time in UTC: the viewer makes it its user's. A string: drawing a JSX
 * element for each line is too slow.
 */
export function lineHtml({ sequence, time, stream, text, ...origin }: Line) {
  const { deploymentId, process } = origin
  const shown = ansiHtml(text)
  const body = stream === 'system' && deploymentId ? withLink(shown, deploymentId) : shown
  const who = process && `<b>${processLabel(origin)}</b>`
  return `<div class="${classesOf({ stream, text })}" id="L${sequence}" data-seq="${sequence}"><a href="#L${sequence}" tabindex="-1">${timeHtml(time)}</a>${who}<span>${body}</span></div>`
}

/** Of a row: where it was written, and at what level. */
export function classesOf({ stream, text }: Pick<Line, 'stream' | 'text'>) {
  const level = levelOf(text)
  const classes = stream === 'stdout' ? 'line' : `line ${stream}`
  return level ? `${classes} ${level}` : classes
}

/** Such as `web`, or `worker 2` where it has several containers. */
export const processLabel = ({ process, replica }: Process) =>
  replica === null ? process : `${process} ${replica}`

export function timeHtml(time: number) {
  const at = new Date(time).toISOString()
  return `<time datetime="${at}">${at.slice(5, 23).replace('T', ' ')}</time>`
}

/** From the page of an environment: the deployment that a mark names. */
function withLink(html: string, deploymentId: string) {
  const name = deploymentName(deploymentId)
  return html.replace(name, `<a href="../../deployments/${deploymentId}">${name}</a>`)
}

/** As the name of its container ends. */
export const deploymentName = (id: string) => `deployment ${id.slice(-12)}`

/** A line in the API. */
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
  }),
})
