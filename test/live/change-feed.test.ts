import { expect, test } from 'bun:test'
import { ChangeFeed } from '../../src/live/change-feed.ts'

const reader = (changes: ChangeFeed, watch: Parameters<ChangeFeed['follow']>[0] = {}) => {
  const end = new AbortController()
  const events = changes.follow(watch, end.signal)
  return { next: async () => (await events.next()).value, end: () => end.abort() }
}

test('a reader that has seen the newest version hears nothing until something changes', async () => {
  const changes = new ChangeFeed()
  const { next, end } = reader(changes, { since: changes.version })
  expect(await next()).toEqual({ version: changes.version, isNew: false })
  const news = next()
  changes.touch()
  expect(await news).toEqual({ version: changes.version, isNew: true })
  end()
})

test('what changed while a reader was away is news when it is back', async () => {
  const changes = new ChangeFeed()
  const since = changes.version
  changes.touch()
  const { next, end } = reader(changes, { since })
  expect((await next())!.isNew).toBe(true)
  end()
})

test('the version of another process is news', async () => {
  const { next, end } = reader(new ChangeFeed(), { since: new ChangeFeed().version })
  expect((await next())!.isNew).toBe(true)
  end()
})

test('a change of one thing is heard by those who look at it, and by no one else', async () => {
  const changes = new ChangeFeed()
  const heard: string[] = []
  const end = new AbortController()
  changes.listen(end.signal, () => heard.push('a'), 'a')
  changes.listen(end.signal, () => heard.push('b'), 'b')
  changes.touch('a')
  expect(heard).toEqual(['a'])
  changes.touch()
  expect(heard).toEqual(['a', 'a', 'b'])
  end.abort()
  changes.touch()
  expect(heard).toHaveLength(3)
})
