import { expect, test } from 'bun:test'
import { aRepository, anApp, deployed } from './apps.ts'
import { testApp } from '../support/app.ts'

test('a repository becomes a running app that answers, and says which commit it is', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const repository = aRepository(t.dataDir, anApp('first'))
  const project = (await ada.post('/projects', { name: 'site', repositoryUrl: repository.url }))
    .json

  const deployment = await deployed(ada, project.id)

  expect(deployment).toMatchObject({ status: 'running', error: null, branch: 'main' })
  expect(deployment.commit).toEqual({ hash: repository.head, author: 'Ada', message: 'A change' })
  expect(await (await fetch(deployment.url)).text()).toBe('first')
})
