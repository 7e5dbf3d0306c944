import { expect, test } from 'bun:test'
import type { Answer, TestClient } from '../support/client.ts'
import { testApp, withAda } from '../support/app.ts'

const fields = { name: 'site', repository_url: 'https://git.example.com/team/site.git' }

const secretIn = ({ text }: Answer) => /name="secret"[^>]*value="([\w-]{43})"/.exec(text)?.[1]

async function made(client: TestClient) {
  const { headers } = await client.form('/projects', fields)
  return headers.get('Location')!
}

test('a browser shows the secret of a project’s webhook when it is asked to, once', async () => {
  const { t, ada } = withAda(testApp())
  const path = await made(ada)
  const page = await ada.page(`${path}/deliveries`)
  expect(secretIn(page)).toBeUndefined()
  expect(page.text).toContain('Show secret')

  const shown = await ada.form(`${path}/webhook-secret/show`, {})
  const secret = secretIn(shown)!
  expect(shown.status).toBe(200)
  expect(shown.headers.get('Cache-Control')).toBe('no-store')
  const body = JSON.stringify({ repository: { clone_url: fields.repository_url } })
  const signature = new Bun.CryptoHasher('sha256', secret).update(body).digest('hex')
  const delivered = await t.app.request('/webhooks/gitea', {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Gitea-Event': 'push',
      'X-Gitea-Delivery': 'one',
      'X-Gitea-Signature': signature,
    },
  })
  expect(delivered.status).not.toBe(401)

  const again = await ada.form(`${path}/webhook-secret/show`, {})
  expect([again.status, secretIn(again)]).toEqual([409, undefined])
  const after = await ada.page(`${path}/deliveries`)
  expect(after.text).not.toContain('Show secret')
  expect(after.text).not.toContain(secret)
  expect(after.text).toContain('The secret was shown.')
})

test('a secret that a program or a new one’s answer has shown is not shown again', async () => {
  const { ada } = withAda(testApp())
  const body = { name: 'api', repositoryUrl: fields.repository_url }
  const { json } = await ada.post('/projects', body)
  expect(json.webhookSecret).toHaveLength(43)
  expect((await ada.post(`/projects/${json.id}/webhook-secret/show`)).status).toBe(409)

  const path = await made(ada)
  const renewed = await ada.htmx('POST', `${path}/webhook-secret`)
  expect(secretIn(renewed)).toHaveLength(43)
  expect((await ada.post(`${path}/webhook-secret/show`)).status).toBe(409)
})

test('reading the page shows nothing and changes nothing, and no one else is shown it', async () => {
  const { t, ada } = withAda(testApp())
  const path = await made(ada)
  for (let i = 0; i < 2; i++) await ada.page(`${path}/deliveries`)
  expect((await t.logIn('bob@example.com').post(`${path}/webhook-secret/show`)).status).toBe(404)
  expect((await ada.post(`${path}/webhook-secret/show`)).json.webhookSecret).toHaveLength(43)
})
