import type { Plan } from './plan.ts'

/**
 * Seconds for a body, by how many digits of its length follow the first: several times what a slow mobile
 * connection needs. One of more, or that states no length, has the 24 hours of the server.
 */
const seconds: Record<string, number> = {
  '0,3': 30,
  '4': 60,
  '5': 5 * 60,
  '6': 30 * 60,
  '7': 2 * 3600,
  '8': 8 * 3600,
}

/** Once a body was read, its time doesn't matter: a response may last, and so may a WebSocket. */
export const bodyRoutes = ({ timesBodies = false }: Pick<Plan, 'timesBodies'>) =>
  timesBodies
    ? Object.entries(seconds).map(([digits, time]) => ({
        match: [{ header_regexp: { 'Content-Length': { pattern: `^0*[1-9]\\d{${digits}}\\z` } } }],
        handle: [{ handler: 'request_body', read_timeout: time * 1e9 }],
      }))
    : []
