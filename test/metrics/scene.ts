import { makeToken } from '../../src/accounts/token-store.ts'
import { asToken } from '../accounts/visitor.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

type Options = { accept?: string; projectId?: string }

export const openMetrics = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5,*/*;q=0.1'

/** What a token with the scope `metrics` reads; its samples by what stands before the value. */
export async function scraped(t: TestApp, { user }: TestClient, options: Options = {}) {
  const { accept = openMetrics, projectId } = options
  const { token } = makeToken(t.db, {
    ...{ userId: user.id, name: 'prometheus', scopes: ['metrics'], projectId },
  })
  const response = await asToken(t.app, token)('GET', '/metrics', { headers: { Accept: accept } })
  const text = await response.text()
  return {
    token,
    text,
    status: response.status,
    ...read(text),
    type: response.headers.get('Content-Type'),
  }
}

function read(text: string) {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ')
    if (line !== '' && !line.startsWith('#')) samples.set(line.slice(0, at), Number(line.slice(at)))
  }
  /** The sum of the samples whose text contains all of these. */
  const of = (name: string, ...labels: string[]) => {
    const found = [...samples].filter(
      ([key]) => /^\w+/.exec(key)![0] === name && labels.every((label) => key.includes(label)),
    )
    return found.length > 0 ? found.reduce((sum, [, value]) => sum + value, 0) : null
  }
  return { samples, of }
}
