import { describe, expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { asToken } from '../accounts/visitor.ts'
import { tarOf } from '../git/tars.ts'
import { until } from '../support/until.ts'
import { app, withProject } from './uploading.ts'

describe('an upload that is under way ends, with nothing kept,', () => {
  /** Its first bytes have arrived. */
  async function underWay() {
    const given = await withProject({ jobsWait: true })
    const { t, ada, project } = given
    const rest = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(tarOf(app).subarray(0, 700)),
      async pull(controller) {
        await rest.promise
        controller.enqueue(tarOf(app).subarray(700))
        controller.close()
      },
    })
    const hangUp = new AbortController()
    const { token, row } = makeToken(t.db, {
      ...{
        userId: ada.user.id,
        name: 'x',
        scopes: ['write'],
        projectId: null,
        expiresInDays: null,
      },
    })
    const path = `/projects/${project.id}/uploads`
    const answer = Promise.resolve(
      asToken(t.app, token)('POST', path, { body, signal: hangUp.signal }),
    )
    await until(() => given.kept().length === 1)
    return { ...given, answer, hangUp, finish: rest.resolve, tokenId: row.id }
  }

  test('with its token', async () => {
    const { ada, answer, tokenId, kept } = await underWay()
    await ada.delete(`/settings/tokens/${tokenId}`)
    expect([(await answer).status, kept()]).toEqual([401, []])
  })

  test('with its project', async () => {
    const { ada, project, finish, answer, kept } = await underWay()
    expect((await ada.delete(`/projects/${project.id}`)).status).toBe(200)
    finish()
    expect([(await answer).status, kept()]).toEqual([404, []])
  })

  test('when Davit stops', async () => {
    const { t, answer, kept } = await underWay()
    await t.streams.endAll()
    expect([(await answer).status, kept()]).toEqual([503, []])
  })

  test('with its connection', async () => {
    const { answer, hangUp, kept } = await underWay()
    hangUp.abort()
    await answer.catch(() => {})
    await until(() => kept().length === 0)
  })
})
