import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { aRepository, anApp } from '../deployments/apps.ts'
import { testApp } from '../support/app.ts'
import { listening } from '../support/listening.ts'
import { answered, comparison } from '../support/openapi.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-client-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const root = join(import.meta.dir, '../..')

test('a client that is generated from the document does the main job', async () => {
  const t = testApp()
  const { origin: baseUrl } = listening(t).url
  const document = (await t.logIn('reader@example.com').get('/api/openapi.json')).json
  t.db.$client.run("DELETE FROM users WHERE email = 'reader@example.com'")
  const { mainJob } = await generated(document)

  const { answerErrors } = comparison(document)
  const wrong: unknown[] = []
  const repository = aRepository(t.dataDir, anApp('first'))
  const { first, second, back, items, removed, problem } = await mainJob({
    baseUrl,
    repositoryUrl: repository.url,
    changeCode: () => repository.commit({ 'www/index.html': 'second' }),
    async fetch(request: Request) {
      const response = await globalThis.fetch(request)
      const text = await response.text()
      const route = `${request.method} ${templateOf(document, request)}`
      const answer = await answered(new Response(text, response as Response))
      wrong.push(...answerErrors(route, answer).map((error) => [route, error]))
      return new Response(text, response as Response)
    },
  })

  expect(wrong).toEqual([])
  expect([first.answer, second.answer, back.answer]).toEqual(['first', 'second', 'first'])
  expect(back.deployment).toMatchObject({ trigger: 'rollback', rollbackOf: first.deployment.id })
  for (const { deployment, events, lines } of [first, second, back]) {
    expect(deployment).toMatchObject({ status: 'running', error: null })
    expect(events).toContain('event: done')
    expect(lines.length).toBeGreaterThan(0)
  }
  expect(items).toHaveLength(3)
  expect(removed).toContainEqual({ kind: 'container', name: expect.any(String) })
  expect(problem).toMatchObject({ status: 404, detail: expect.any(String) })
}, 120_000)

/** The program of the main job beside the types that it is written with, once the type checker takes it. */
async function generated(document: any) {
  const file = (name: string, text: string) => Bun.write(join(dir, name), text)
  await file('paths.ts', astToString(await openapiTS(document)))
  cpSync(join(import.meta.dir, 'main-job.ts'), join(dir, 'main-job.ts'))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  await file(
    'tsconfig.json',
    JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['.'] }),
  )
  const check = Bun.spawn([process.execPath, 'check', '--no-script', '-p', dir], { stderr: 'pipe' })
  const said = (await new Response(check.stdout).text()) + (await new Response(check.stderr).text())
  expect({ status: await check.exited, said }).toMatchObject({ status: 0 })
  return import(join(dir, 'main-job.ts'))
}

/** The path of the document that a request goes to. */
const templateOf = (document: { paths: object }, { url }: Request) =>
  Object.keys(document.paths).find((path) =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(new URL(url).pathname),
  )
