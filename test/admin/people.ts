import { projects } from '../../src/db/schema.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

/** An admin, a member with things, and one who may get them. */
export function people(t: TestApp) {
  return {
    root: t.logInAsAdmin(),
    bob: t.logIn('bob@example.com'),
    eve: t.logIn('eve@example.com'),
  }
}

export const pathOf = ({ user }: TestClient) => `/settings/users/${user.id}`

export const addProject = ({ db }: TestApp, { user }: TestClient, name: string) =>
  db
    .insert(projects)
    .values({
      ownerId: user.id,
      name,
      repositoryUrl: 'https://git.example.com/a/b.git',
      webhookSecret: '',
    })
    .returning()
    .get()
