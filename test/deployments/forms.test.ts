import { expect, test } from 'bun:test'
import { triggerForm } from '../../src/deployments/trigger-forms.ts'
import { testApp, withAda } from '../support/app.ts'
import {
  endless,
  hostileBranches,
  hostileRepositories,
  privateRepositories,
} from '../support/hostile.ts'
import { expectRefusals } from '../support/refusals.ts'

const strict = { DAVIT_ALLOW_LOCAL_REPOS: '0', DAVIT_ALLOW_HOSTS: '' }
const hash = 'a'.repeat(40)

test('a deployment with a wrong field is refused by its name, and none is made', async () => {
  const { t, ada } = withAda(testApp(strict))
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: other } = await ada.post('/projects', { name: 'other', repositoryUrl })
  const [foreign] = (await ada.get(`/projects/${other.id}/envs`)).json.items
  for (const path of ['deployments', 'deploy'])
    await expectRefusals(t, ada, {
      method: 'POST',
      path: `/projects/${project.id}/${path}`,
      valid: {},
      wrong: {
        environmentId: [
          foreign.id,
          Bun.randomUUIDv7(),
          'production',
          "' OR 1=1",
          endless,
          7,
          [],
          {},
        ],
        repositoryUrl: [...hostileRepositories, ...privateRepositories, endless, 7, []],
        branch: [...hostileBranches, endless, 7, [], {}],
        commit: [
          'HEAD',
          "HEAD'; id; #",
          '--all',
          'abc',
          `${hash}a`,
          hash.slice(1),
          `${hash}\n--all`,
          `-${hash.slice(1)}`,
          'g'.repeat(40),
          'a'.repeat(63),
          endless,
          7,
          [],
        ],
      },
      schema: triggerForm(t.config),
      notShown: 'all',
    })
  expect((await ada.get(`/projects/${project.id}/deployments`)).json.items).toEqual([])
})
