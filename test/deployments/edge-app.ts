import { afterAll, onTestFinished } from 'bun:test'
import { apps } from '../../src/deployments/observe.ts'
import { watchContainers } from '../../src/containers/crash-loop.ts'
import { keepTraffic } from '../../src/traffic/collect.ts'
import { excludeEnded } from '../../src/runtime/exclude-ended.ts'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import { services } from '../../src/services/observe.ts'
import { freePort } from '../support/free-port.ts'
import { testApp, withAda } from '../support/app.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { until } from '../support/until.ts'
import type { Files } from '../support/git-server.ts'
import { aProject } from './apps.ts'

/** The product with a Caddy of its own that serves its apps, until the test ends. */
export async function edgeApp({
  env,
  ...overrides
}: Parameters<typeof testApp>[1] & { env?: Record<string, string> } = {}) {
  await ensureEdgeImages({ say: console.error })
  const ports = `${freePort()},${freePort()}`
  const settings = { DAVIT_EDGE: 'caddy', DAVIT_EDGE_PORTS: ports, ...env }
  const [http] = settings.DAVIT_EDGE_PORTS.split(',')
  const abort = new AbortController()
  let work: Promise<unknown>[] = []
  const end = async () => {
    abort.abort()
    await Promise.all(work)
  }
  const { atEnd = onTestFinished } = overrides
  atEnd(end) // before what it keeps running is removed
  const t = testApp(settings, overrides)
  const { signal } = abort
  work = [
    t.edge.run({ signal }),
    excludeEnded(t.deps, { signal }),
    watchWorkloads(t.deps, apps, { signal }),
    watchWorkloads(t.deps, services, { signal }),
    watchContainers(t.deps, { signal }),
    keepTraffic(t.deps, { signal }),
    t.collector.run({ signal }),
    t.feed.run(t.docker, { signal }),
  ]
  await until(() => t.edge.isOn)

  /** What a host of the edge responds. */
  const get = async (host: string, path = '/', init: RequestInit = {}, edge = '127.0.0.1') => {
    const headers = { ...(init.headers as Record<string, string>), Host: host }
    const url = `http://${edge}:${http}${path}`
    return fetch(url, { keepalive: false, redirect: 'manual', ...init, headers })
  }
  return {
    ...t,
    get,
    /** The same installation, started again with these settings. */
    async startAgain(changed: Record<string, string> = {}) {
      await end()
      const again = { ...settings, ...changed, DAVIT_DATA_DIR: t.dataDir }
      const next = testApp(again, { db: t.db, logDb: t.logDb })
      const over = new AbortController()
      const running = next.edge.run({ signal: over.signal })
      onTestFinished(async () => {
        over.abort()
        await running
      })
      return next
    },
    text: async (host: string, path = '/') => (await get(host, path)).text(),
    /** Asks a host all the time until the work is done; returns what it got that isn't one of these. */
    async visited(host: string, expected: string[], work: () => Promise<unknown>) {
      const wrong: string[] = []
      let isOver = false
      let count = 0
      const visit = async (keepalive: boolean) => {
        while (!isOver) {
          const found = await get(host, '/', { keepalive }).then(
            async (response) => `${response.status} ${await response.text()}`,
            String,
          )
          count++
          if (!expected.includes(found.replace(/^200 /, ''))) wrong.push(found)
        }
      }
      const visitors = [true, false, false].map(visit)
      try {
        await work()
      } finally {
        isOver = true
        await Promise.all(visitors)
      }
      return { wrong, count }
    },
  }
}

/** One edge for all tests of a file; each site is a project of Ada's with a host of its own. */
export async function sharedEdge() {
  const { t, ada } = withAda(await edgeApp({ atEnd: afterAll }))
  let count = 0
  return {
    t,
    ada,
    async aSite(files: Files, settings: Parameters<typeof aProject>[3] = {}) {
      const name = `app${++count}`
      const host = `${name}.test`
      return {
        host,
        project: await aProject(t, ada, files, { name, domains: [host], ...settings }),
      }
    },
  }
}

export type EdgeApp = Awaited<ReturnType<typeof edgeApp>>

/** An app that responds with the text, and whose `/cgi-bin/slow` ends when the container has `/tmp/go`. */
export const aSlowApp = (text: string): Files => ({
  'www/index.html': text,
  'www/cgi-bin/slow': [
    '#!/bin/sh',
    "printf 'Content-Type: text/plain\\r\\n\\r\\nbegins '",
    'until [ -e /tmp/go ]; do sleep 0.1; done',
    `echo in ${text}`,
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/slow',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

/** Lets the slow responses of a container end. */
export const letEnd = (t: Pick<EdgeApp, 'docker'>, containerId: string) =>
  t.docker.putArchive(containerId, {
    path: '/tmp',
    files: [{ path: 'go', content: '', mode: 0o644 }],
  })
