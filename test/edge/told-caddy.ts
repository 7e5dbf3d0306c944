import type { Caddy } from '../../src/edge/plan.ts'
import type { Failure } from '../../src/platform/errors.ts'

/** A Caddy that does as it is told here, and says what it was told. */
export function aCaddy(mode: Caddy['mode'] = 'caddy') {
  const told: string[] = []
  const caddy: Caddy & { refusal: Failure | null; told: string[] } = {
    ...{
      mode,
      folder: '/edge',
      ports: { http: 80, https: 443 },
      davit: '',
      version: null,
    },
    told,
    refusal: null,
    doubt() {},
    async start() {
      if (caddy.refusal) throw caddy.refusal
    },
    async serve({ hosts }) {
      told.push(`serve ${hosts.map(({ name }) => name).join(' ')}`)
      return { state: 'in force', loadedAt: null, rejected: [] }
    },
    async stop() {
      told.push('stop')
    },
  }
  return caddy
}
