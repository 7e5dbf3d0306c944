import type { NewLine } from './log-line.tsx'

/** How a log says that output is missing from it. Other lines of Davit's don't match. */
const losses = [
  /\blines? (is|are) missing here\b/,
  / was removed before its last lines could be read\./,
  /^The log of \S+ was full when it was first read:/,
  /^This log is full:/,
]

/** True for a line of Davit's own that says that output is missing. */
export const isLoss = ({ stream, text }: Pick<NewLine, 'stream' | 'text'>) =>
  stream === 'system' && losses.some((loss) => loss.test(text))
