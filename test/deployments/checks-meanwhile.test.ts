import { expect, test } from 'bun:test'
import { settle } from '../../src/deployments/checks.ts'
import { cancel, logOf } from './apps.ts'
import { minute, waiting } from './waiting.ts'

test.each(['it is cancelled', 'a newer push replaces it'])(
  'what the provider says of a commit changes nothing where %s while it is asked',
  async (how) => {
    const { ada, envPath, push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'test', 'success')
    await later(0)
    const until = new Date(Date.now() + 60 * minute).toISOString()
    const freezes = `/envs/${envPath.split('/').at(-1)}/freezes`
    expect((await ada.post(freezes, { until, reason: 'Christmas' })).status).toBe(201)
    check(commit, 'more', 'success')
    const looking = later(settle)
    if (how === 'it is cancelled') await cancel(ada, await get(id))
    else await push('second')
    const [ended, log] = [await get(id), await logOf(ada, await get(id))]
    expect(['cancelled', 'superseded']).toContain(ended.status)
    await looking
    expect(await get(id)).toEqual(ended)
    expect(await logOf(ada, ended)).toEqual(log)
  },
)
