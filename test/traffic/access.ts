import { appendFileSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { insertDomain } from '../../src/addresses/store.ts'
import type { Holder } from '../../src/addresses/store.ts'
import { TrafficCollector } from '../../src/traffic/collect.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'

/** A user with an environment, whose access log the test writes in Caddy's place. */
export async function counted() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const log = new AccessLog(join(t.dataDir, 'edge'))
  const collector = () => new TrafficCollector(t.deps)
  const own: Holder = { environmentId: environment.id }
  return {
    ...{ t, ada, environment, log, collector },
    path: `/envs/${environment.id}/traffic`,
    metrics: `${environment.path}/metrics`,
    output: `${environment.path}/output`,
    /** Has the environment have a host, for long unless it is new. */
    has(host: string, { holder = own, path = '/', isNew = false } = {}) {
      const domain = insertDomain(t.db, holder, { host, path }, t)
      const old = "UPDATE domains SET id = '018f0000' || substr(id, 9) WHERE id = ?"
      if (!isNew) t.db.$client.run(old, [domain.id])
    },
    /** Reads all that there is, as a Davit that has just started. */
    async collect() {
      const reader = collector()
      while (await reader.collect());
    },
  }
}

type Fields = {
  status: number
  size: number
  bytes_read: number
  duration: number
  ts: number
  uri: string
  davit: string
  method: string
  client_ip: string
  host: string
  level: 'info' | 'error'
}

/** A line as Caddy writes it. */
export const aLine = (host: string, fields: Partial<Fields> = {}) => {
  const { uri = '/', method = 'GET', client_ip = '203.0.113.7', ...more } = fields
  return JSON.stringify({
    ts: Date.now() / 1000,
    request: { client_ip, method, host: fields.host ?? host, uri },
    ...{ bytes_read: 0, duration: 0.01, size: 100, status: 200, davit: host },
    level: (fields.status ?? 200) < 500 ? 'info' : 'error',
    ...more,
  })
}

export class AccessLog {
  readonly path: string
  readonly #folder: string
  #rolled = 0

  constructor(edge: string) {
    this.#folder = join(edge, 'log')
    this.path = join(this.#folder, 'access.log')
    mkdirSync(this.#folder, { recursive: true })
  }

  write(...lines: (string | Buffer)[]) {
    for (const line of lines) appendFileSync(this.path, Buffer.concat([Buffer.from(line), end]))
  }

  /** Without an end. */
  begin(text: string) {
    appendFileSync(this.path, text)
  }

  /** As Caddy does where the file is full: the next line begins another one. */
  roll() {
    const time = new Date(Date.UTC(2026, 0, 1) + this.#rolled++ * 1000).toISOString()
    const name = `access-${time.replaceAll(':', '-').slice(0, 23)}-size.log`
    renameSync(this.path, join(this.#folder, name))
  }
}

const end = Buffer.from('\n')
