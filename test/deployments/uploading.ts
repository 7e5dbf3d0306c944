import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeToken } from '../../src/accounts/token-store.ts'
import { asToken } from '../accounts/visitor.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { anApp, aProject } from './apps.ts'

type Body = Uint8Array | ReadableStream<Uint8Array>

export const app = anApp('uploaded') as Record<string, string>

/** A project on the simulated engine, and its owner's token. */
export async function withProject(
  options?: Parameters<typeof simulatedApp>[1],
  env: Record<string, string> = {},
) {
  const { t, ada } = withAda(simulatedApp(env, options))
  const project = await aProject(t, ada, anApp('committed'))
  const send = asToken(t.app, tokenOf(t, ada.user.id))
  const upload = async (body: Body, query = '', id = project.id) => {
    const response = await send('POST', `/projects/${id}/uploads${query}`, {
      body: body as Uint8Array<ArrayBuffer>,
    })
    const json: any = await response.json()
    return { status: response.status, json, headers: response.headers }
  }
  return { t, ada, project, upload, kept: () => keptBy(t) }
}

export const tokenOf = (t: TestApp, userId: string, scope: 'deploy' | 'write' = 'write') =>
  makeToken(t.db, { userId, name: 'laptop', scopes: [scope], projectId: null, expiresInDays: null })
    .token

/** The uploads that a server has on its disk. */
export function keptBy({ dataDir }: TestApp) {
  const folder = join(dataDir, 'uploads')
  return existsSync(folder) ? readdirSync(folder) : []
}
