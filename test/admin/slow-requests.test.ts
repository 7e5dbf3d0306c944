import { describe, expect, test } from 'bun:test'
import { deleteSessionsOf, getUser } from '../../src/accounts/store.ts'
import { deleteTokensOf, makeToken } from '../../src/accounts/token-store.ts'
import { changeUser } from '../../src/admin/change-user.ts'
import { beginRemoval } from '../../src/admin/remove-user.ts'
import { transferAll } from '../../src/admin/transfer.ts'
import { asToken } from '../accounts/visitor.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { pathOf, people } from './people.ts'

/** A body of which nothing arrives before `meanwhile` has happened. */
const after = (meanwhile: () => unknown, body: string) =>
  new ReadableStream(
    {
      async pull(controller) {
        await meanwhile()
        controller.enqueue(new TextEncoder().encode(body))
        controller.close()
      },
    },
    { highWaterMark: 0 }, // else it begins before anyone reads
  )

type Change = { role?: 'admin' | 'member'; disabled?: boolean }

function withAccomplice() {
  const t = simulatedApp()
  const accomplice = t.logInAsAdmin('mallory@example.com')
  const { root, bob } = people(t)
  return { t, root, accomplice, bob }
}

const roleOf = ({ db }: TestApp, { user }: TestClient) => getUser(db, user.id)!.role

const json = { Accept: 'application/json', 'Content-Type': 'application/json' }

describe('a request whose body comes after its sender', () => {
  test.each<[string, Change, number]>([
    ['was disabled', { disabled: true }, 401],
    ['is no admin any more', { role: 'member' }, 403],
    ['was disabled and is no admin', { disabled: true, role: 'member' }, 401],
  ])('%s makes no one an admin', async (_, change, status) => {
    const { t, root, accomplice, bob } = withAccomplice()
    const shutOut = async () => {
      expect((await root.put(pathOf(accomplice), change)).status).toBe(200)
    }
    const body = after(shutOut, JSON.stringify({ role: 'admin' }))
    const answer = await accomplice.send(pathOf(bob), { method: 'PUT', headers: json, body })
    expect([answer.status, roleOf(t, bob)]).toEqual([status, 'member'])
  })

  test('became a member does what a member may', async () => {
    const { root, accomplice } = withAccomplice()
    const demote = () => root.put(pathOf(accomplice), { role: 'member' })
    const fields = { name: 'site', repositoryUrl: 'https://git.example.com/a/b.git' }
    const body = after(demote, JSON.stringify(fields))
    const answer = await accomplice.send('/projects', { method: 'POST', headers: json, body })
    expect(answer.status).toBe(201)
  })

  test('was logged out leads to the login, when it is a form', async () => {
    const { t, accomplice, bob } = withAccomplice()
    const body = after(() => deleteSessionsOf(t.db, accomplice.user.id), '_method=PUT&role=admin')
    const answer = await accomplice.send(pathOf(bob), {
      method: 'POST',
      headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    })
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/login'])
    expect(roleOf(t, bob)).toBe('member')
  })

  test('lost their token changes nothing', async () => {
    const { t, bob } = withAccomplice()
    const userId = bob.user.id
    const { token } = makeToken(t.db, { userId, name: 'ci', scopes: ['write'] })
    const fields = { name: 'site', repositoryUrl: 'https://git.example.com/a/b.git' }
    const body = after(() => deleteTokensOf(t.db, userId), JSON.stringify(fields))
    const answer = await asToken(t.app, token)('POST', '/projects', { headers: json, body })
    expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer'])
  })
})

test('whoever was an admin when the request came changes, deletes and takes over no one', async () => {
  const { t, root, accomplice, bob } = withAccomplice()
  const by = getUser(t.db, accomplice.user.id)!
  await root.put(pathOf(accomplice), { disabled: true })
  const { id } = bob.user
  for (const change of [
    () => changeUser(t.db, { id, by, role: 'admin' }),
    () => transferAll(t.deps, { id, by, heirId: by.id }),
    () => beginRemoval(t.db, { id, by, volumes: true }),
  ])
    expect(change).toThrow(expect.objectContaining({ code: 'forbidden' }))
  expect(getUser(t.db, id)).toMatchObject({ role: 'member', disabledAt: null, deletingAt: null })
})
