import { join } from 'node:path'
import type { TestClient } from '../support/client.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'

/** An app on busybox that answers with the text. */
export const anApp = (text: string): Files => ({
  'www/index.html': text,
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

/** An image that runs a command of the shell. */
export const aCommand = (script: string): Files => ({
  Dockerfile: `FROM busybox\nEXPOSE 8080\nCMD ${JSON.stringify(['sh', '-c', script])}\n`,
})

/** A repository on disk with these files, and more commits later. */
export function aRepository(dir: string, files: Files, name = 'app.git') {
  const path = makeRepository(join(dir, 'repositories'), name)
  const commit = (more: Files, options = {}) => commitFiles(path, more, options)
  return { url: `file://${path}`, head: commit(files), commit }
}

/** Deploys and waits for the end of the stream; returns the deployment in its final state. */
export async function deployed(
  client: TestClient,
  projectId: string,
  asked: Record<string, unknown> = {},
) {
  const { status, json, text } = await client.post(`/projects/${projectId}/deployments`, asked)
  if (status !== 201) throw new Error(`The deployment was refused: ${text}`)
  return finished(client, json)
}

/** Reads the log to its end; returns the deployment in its final state. */
export async function finished(client: TestClient, deployment: { projectId: string; id: string }) {
  const path = `/projects/${deployment.projectId}/deployments/${deployment.id}`
  const stream = await client.send(`${path}/logs`, { headers: { Accept: 'text/event-stream' } })
  await stream.text()
  return (await client.get(path)).json
}

/** The text of every line of the log. */
export async function logOf(
  client: TestClient,
  { projectId, id }: { projectId: string; id: string },
) {
  const path = `/projects/${projectId}/deployments/${id}/logs?limit=10000`
  const { json } = await client.get(path)
  return json.items.map((line: { text: string }) => line.text) as string[]
}
