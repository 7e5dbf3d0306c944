import { expect, test } from 'bun:test'
import { cancelled } from '../../src/jobs/task.ts'
import { scene, turn } from './scene.ts'

test.each(['build', 'service'] as const)(
  'a hundred jobs of one owner delay another’s one by at most the %s that runs',
  async (slot) => {
    const { jobs, begun, add, end } = scene()
    add('a0', 'ada', slot)
    jobs.wake()
    await turn()
    for (let at = 1; at <= 100; at++) add(`a${at}`, 'ada', slot)
    add('b0', 'bob', slot)
    jobs.wake()
    expect(begun).toEqual(['a0'])
    await end('a0')
    await end('b0')
    expect(begun).toEqual(['a0', 'b0', 'a1'])
  },
)

test('a class of slots holds up no other one, and what needs none runs at once', async () => {
  const { jobs, begun, add, goingOn } = scene()
  add('built', 'ada')
  add('waits', 'ada')
  add('service', 'ada', 'service')
  add('rollback', 'ada', null)
  jobs.wake()
  await turn()
  expect(begun.toSorted()).toEqual(['built', 'rollback', 'service'])
  goingOn.get('built')!.work.releaseSlot()
  await turn()
  expect(begun.at(-1)).toBe('waits')
})

test('a lent slot serves others, not another job of its owner, and comes back in turn', async () => {
  const { jobs, begun, add, end, goingOn } = scene()
  for (const [subject, owner] of [
    ['a0', 'ada'],
    ['a1', 'ada'],
    ['b0', 'bob'],
  ] as const)
    add(subject, owner)
  jobs.wake()
  await turn()
  const { work } = goingOn.get('a0')!
  work.lendSlot()
  await turn()
  expect(begun).toEqual(['a0', 'b0'])
  const order: string[] = []
  const back = work.takeSlot(() => order.push('waits')).then(() => order.push('is back'))
  await turn()
  expect(order).toEqual(['waits'])
  await end('b0')
  await back
  expect(begun).toEqual(['a0', 'b0'])
  await end('a0')
  expect(begun).toEqual(['a0', 'b0', 'a1'])
})

test('a slot that is left serves its owner too, and comes back within what the owner may have', async () => {
  const { jobs, begun, add, end, goingOn } = scene({ slots: 2, isShared: () => true })
  for (const at of [0, 1, 2]) add(`a${at}`, 'ada')
  jobs.wake()
  await turn()
  const { work } = goingOn.get('a0')!
  work.releaseSlot()
  await turn()
  expect(begun).toEqual(['a0', 'a1'])
  let isBack = false
  const back = work.takeSlot().then(() => (isBack = true))
  await turn()
  expect(isBack).toBe(false) // though the last one is free
  await end('a1')
  await back
  expect(begun).toEqual(['a0', 'a1'])
  await end('a0')
  expect(begun).toEqual(['a0', 'a1', 'a2'])
})

test('the last slot is no one’s who has the others, where there are several owners', async () => {
  let isShared = true
  const { jobs, begun, add, end } = scene({ slots: 3, isShared: () => isShared })
  for (const at of [0, 1, 2, 3]) add(`a${at}`, 'ada', 'service')
  jobs.wake()
  await turn()
  expect(begun).toEqual(['a0', 'a1'])
  add('b0', 'bob', 'service')
  jobs.wake()
  await turn()
  expect(begun).toEqual(['a0', 'a1', 'b0'])
  isShared = false
  await end('b0')
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2'])
})

test('a job that is cancelled while it waits for its slot ends, and takes none', async () => {
  const { jobs, begun, add, end, goingOn } = scene()
  const { id } = add('a0', 'ada')
  add('b0', 'bob')
  jobs.wake()
  await turn()
  const { work } = goingOn.get('a0')!
  work.lendSlot()
  await turn()
  const back = work.takeSlot().catch((reason) => reason)
  await jobs.cancel([id])
  expect(await back).toBe(cancelled)
  add('c0', 'cid')
  jobs.wake()
  await end('b0')
  expect(begun).toEqual(['a0', 'b0', 'c0'])
})
