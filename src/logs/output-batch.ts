import { raw } from 'hono/html'
import { ansiHtml } from '../web/ansi.ts'
import { LineBatch } from '../web/line-batch.ts'
import type { OutputLine } from './block.ts'
import { deploymentName } from './marks.ts'

/** Kept lines, as those who follow get them. */
export class OutputBatch extends LineBatch<OutputLine> {
  constructor(lines: OutputLine[], state: string | null = null) {
    super(lines, { html: outputLineHtml, json: outputLineJson }, state)
  }

  /** The lines after that sequence; itself when that is all of them. */
  after(sequence: number) {
    return this.first > sequence ? this : new OutputBatch(this.since(sequence), this.state)
  }
}

/**
 * A row of the viewer, with the time in the place of the number. A string: drawing a JSX element for
 * each line is too slow.
 */
export function outputLineHtml({ sequence, time, stream, text, deploymentId }: OutputLine) {
  const at = new Date(time).toISOString()
  const clock = `<time datetime="${at}">${at.slice(5, 23).replace('T', ' ')}</time>`
  const classes = stream === 'stdout' ? 'line' : `line ${stream}`
  const shown = ansiHtml(text)
  const body = stream === 'system' && deploymentId ? withLink(shown, deploymentId) : shown
  return `<div class="${classes}" id="L${sequence}" data-seq="${sequence}"><a href="#L${sequence}" tabindex="-1">${clock}</a><span>${body}</span></div>`
}

/** From the page of an environment: the deployment that a mark names. */
function withLink(html: string, deploymentId: string) {
  const name = deploymentName(deploymentId)
  return html.replace(name, `<a href="../../deployments/${deploymentId}">${name}</a>`)
}

export const OutputRow = ({ line }: { line: OutputLine }) => raw(outputLineHtml(line))

/** A line as programs see it. */
export const outputLineJson = ({
  sequence,
  time,
  stream,
  text,
  deploymentId,
  container,
}: OutputLine) => ({
  seq: sequence,
  time: new Date(time).toISOString(),
  stream,
  text,
  deploymentId: deploymentId || null,
  container,
})
