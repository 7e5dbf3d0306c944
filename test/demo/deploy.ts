import type { DavitClient } from './client.ts'
import { readEvents } from './events.ts'
import type { Commit } from './sample.ts'
import { dim, logLine, say, success } from './terminal.ts'

export type Deployment = {
  id: string
  projectId: string
  status: string
  commit: { hash: string }
  url: string
  steps: { name: string; startedAt: string; finishedAt: string | null }[]
  error: { message: string; hint: string } | null
}

type LogLine = { seq: number; text: string }

/** Shows a deployment's log while it happens, then answers how the deployment ended: running. */
export async function watch(davit: DavitClient, { id, projectId }: Deployment) {
  const path = `/projects/${projectId}/deployments/${id}`
  const begin = performance.now()
  await showLog(davit, `${path}/logs?format=json`)
  const ended = await davit.get<Deployment>(path)
  if (ended.status !== 'running') {
    const { message, hint } = ended.error ?? { message: 'No reason is given.', hint: '' }
    throw new Error(`The deployment is ${ended.status}, not running. ${message} ${hint}`.trim())
  }
  say(dim(`  running after ${((performance.now() - begin) / 1000).toFixed(1)} s`))
  return ended
}

/** Shows that requests go back to the version before; answers how many the app itself failed. */
export async function showGoingBack(davit: DavitClient, { id, projectId }: Deployment) {
  const path = `/projects/${projectId}/deployments/${id}`
  await showLog(davit, `${path}/logs?format=json`)
  for (;;) {
    const { status, error, watch } = await davit.get<Deployment & { watch: Watch }>(path)
    if (status === 'failed' && watch && watch.lines.length > 0) {
      for (const line of watch.lines) logLine(line)
      success(`${error!.message} Requests went back to the version before.`)
      return watch.requests.reduce((sum, { count }) => sum + count, 0)
    }
    if (watch?.end && watch.end !== 'reverted') throw new Error(`The watch ended: ${watch.end}.`)
    await Bun.sleep(200)
  }
}

type Watch = { end: string | null; lines: string[]; requests: { count: number }[] } | null

/** Follows the log to its end; a stream that breaks off is taken up where it ended. */
async function showLog(davit: DavitClient, path: string) {
  let last = 0
  while (true) {
    const stream = await davit.stream(path, last > 0 ? String(last) : null)
    for await (const event of readEvents(stream)) {
      if (event.name === 'done') return
      if (event.name !== 'message') continue
      const { seq, text } = JSON.parse(event.data) as LogLine
      if (seq !== last + 1) throw new Error(`After line ${last} of the log comes line ${seq}.`)
      last = seq
      logLine(text)
    }
    await Bun.sleep(500)
  }
}

/** Asks the app itself: it must say what its commit says, and Davit must name that commit. */
export async function checkApp(
  deployment: Deployment,
  { commit: { greeting, hash }, signal }: { commit: Commit; signal: AbortSignal },
) {
  const { url, commit } = deployment
  if (commit.hash !== hash) throw new Error(`Commit ${commit.hash} was deployed, not ${hash}.`)
  const answer = await fetchApp(url, { signal })
  const text = await answer.text()
  if (answer.status !== 200 || !text.includes(`<h1>${greeting}</h1>`))
    throw new Error(`${url} does not say “${greeting}” but answers ${answer.status}: ${text}`)
}

/** A name below localhost is this machine's for a browser; not for each system. */
export function fetchApp(url: string, init: RequestInit = {}) {
  const { hostname, port, pathname } = new URL(url)
  if (!hostname.endsWith('.localhost')) return fetch(url, init)
  const headers = { ...init.headers, Host: `${hostname}:${port}` }
  return fetch(`http://127.0.0.1:${port}${pathname}`, { ...init, headers })
}
