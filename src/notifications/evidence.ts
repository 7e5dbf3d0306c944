import type { FailedRequests } from '../db/schema.ts'
import { counted } from '../web/units.ts'

export const requestsInWords = ({ status, method, path, count }: FailedRequests) =>
  `${counted(count, 'request')}: ${method} ${path} → ${status}`

/** What told against a version: its most frequent failed requests, and its last lines. */
export type Evidence = { requests: FailedRequests[]; lines: string[] }

/** Of each. */
const shownEvidence = 3

/** Sentences for a text. */
export const evidenceOf = ({ requests, lines }: Evidence) =>
  [
    ...requests.slice(0, shownEvidence).map(requestsInWords),
    ...lines.slice(-shownEvidence).map((line) => `It wrote “${line.slice(0, 200)}”`),
  ]
    .map((one) => ` ${one}.`)
    .join('')
