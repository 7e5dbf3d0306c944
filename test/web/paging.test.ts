import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

type Item = { id: string; name?: string; key?: string }

const repositoryUrl = 'https://git.example.com/team/site.git'

async function follow(client: TestClient, path: string, limit: number) {
  const pages: Item[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor ? `&cursor=${cursor}` : ''
    const { json } = await client.get(`${path}?limit=${limit}${query}`)
    pages.push(json.items)
    cursor = json.nextCursor
  }
  return pages
}

async function filled() {
  const { ada } = withAda(testApp())
  for (let i = 0; i < 5; i++) await ada.post('/projects', { name: `p${i}`, repositoryUrl })
  const [project] = (await ada.get('/projects')).json.items
  for (let i = 1; i < 5; i++) await ada.post(`/projects/${project.id}/envs`, { name: `e${i}` })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  for (let i = 0; i < 5; i++)
    await ada.post(`/envs/${environment.id}/variables`, { key: `K${i}`, value: 'x' })
  return {
    ada,
    lists: ['/projects', `/projects/${project.id}/envs`, `/envs/${environment.id}/variables`],
  }
}

test('a list comes in pages, newest first, each item once', async () => {
  const { ada, lists } = await filled()
  const newest = [/^p4/, /^e4/, /^K4/]
  for (const [i, path] of lists.entries()) {
    const pages = await follow(ada, path, 2)
    expect(
      pages.map((page) => page.length),
      path,
    ).toEqual([2, 2, 1])
    const items = pages.flat()
    expect(items[0]!.name ?? items[0]!.key).toMatch(newest[i]!)
    expect(items.map(({ id }) => id)).toEqual(
      [...new Set(items.map(({ id }) => id))].sort().reverse(),
    )
    const whole = (await ada.get(path)).json
    expect(whole).toEqual({ items, nextCursor: null })
    expect(await follow(ada, path, 5)).toEqual([items])
  }
})

test('a page holds 50 unless asked otherwise, and 500 at most', async () => {
  const ada = testApp().logIn('ada@example.com')
  for (let i = 0; i < 51; i++) await ada.post('/projects', { name: `p${i}`, repositoryUrl })
  const { json } = await ada.get('/projects')
  expect(json.items).toHaveLength(50)
  expect(json.nextCursor).toBe(json.items.at(-1).id)
  expect((await ada.page('/projects')).text).toContain('1 to 25 of 51')
  expect((await ada.get('/projects?limit=500')).json.items).toHaveLength(51)
})

test('a limit or cursor that is none is refused by its name', async () => {
  const { ada, lists } = await filled()
  for (const path of lists) {
    for (const limit of ['0', '501', '-1', 'x', '1.5', '1e2', '1;drop', '9'.repeat(400)]) {
      const answer = await ada.get(`${path}?limit=${limit}`)
      expect(answer.status, limit).toBe(422)
      expect(answer.json.errors[0].field).toBe('limit')
    }
    const twice = await ada.get(`${path}?limit=1&limit=2`)
    expect(twice.status).toBe(422)
    const long = await ada.get(`${path}?cursor=${'a'.repeat(101)}`)
    expect(long.status).toBe(422)
    expect(long.json.errors[0].field).toBe('cursor')
    for (const cursor of ['zzz', "' OR 1=1 --", '0', 'a-b-c']) {
      const odd = await ada.get(`${path}?cursor=${encodeURIComponent(cursor)}`)
      expect(odd.status, cursor).toBe(422)
      expect(odd.json.errors).toEqual([
        { field: 'cursor', message: 'must be the nextCursor of the previous page.' },
      ])
    }
  }
})
