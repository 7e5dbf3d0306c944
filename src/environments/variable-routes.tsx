import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Secrets } from '../platform/secrets.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft, enterAgain } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { flagOf } from '../web/fields.ts'
import { pageOf, paged } from '../web/paging.ts'
import { looksSecret, secretNames } from '../logs/secret-names.ts'
import { pause } from '../platform/pause.ts'
import { moveOn, show } from '../web/respond.tsx'
import { parseDotenv } from './dotenv.ts'
import { variableForm, variableUpdateForm } from './forms.ts'
import { headOf, lookOf } from './head.ts'
import type { HeadDeps } from './head.ts'
import { variableJson } from './json.ts'
import type { OwnEnvironment } from './own-environment.ts'
import { checkEnvironment, liveEnvironment, ownEnvironment } from './own-environment.ts'
import {
  deleteVariable,
  findVariable,
  insertVariable,
  listVariables,
  pageOfVariables,
  setVariables,
  updateVariable,
} from './variable-store.ts'
import type { Variable } from './variable-store.ts'
import { variableTextRoutes } from './variable-text-routes.tsx'
import { VariablesPage } from './variables-page.tsx'
import type { GivenVariable } from './variables-page.tsx'
import { counted } from '../web/units.ts'
import { ModalForm } from '../web/dialog.tsx'
import { Checkbox, TextArea, TextField } from '../web/fields-view.tsx'
import type { Environment } from './store.ts'

/** Values of secrets are write-only. `given` returns the variables that an app gets beside its own. */
export const variableRoutes = (
  deps: HeadDeps & { secrets: Secrets },
  given: (of: OwnEnvironment) => Promise<GivenVariable[]>,
) => {
  const { db, secrets } = deps
  const audit = auditor(db)
  const ownFirst = checkEnvironment(deps)

  return factory
    .createApp()
    .get('/envs/:envId/variables', paged(), async (c) => {
      const { environment, project } = ownEnvironment(deps, c)
      const page = c.req.valid('query')
      const beside = clientOf(c) === 'program' ? [] : await given({ environment, project })
      const head = headOf(deps, { environment, project })
      return show(c, {
        title: `${project.name}: variables of ${environment.name}`,
        state: lookOf(head),
        page: () => (
          <VariablesPage head={head} variables={listVariables(db, environment.id)} given={beside} />
        ),
        json: () => {
          const rows = pageOfVariables(db, { environmentId: environment.id, ...page })
          const list = pageOf(rows, page)
          return { ...list, items: list.items.map(variableJson) }
        },
        live: {},
      })
    })
    .get('/envs/:envId/variables/new', (c) => show(c, newVariable(c, emptyDraft)))
    .post('/envs/:envId/variables', ownFirst, input(variableForm, newVariable), async (c) => {
      const of = liveEnvironment(deps, c)
      const { environment } = of
      const to = `/envs/${environment.id}/variables`
      const { key, value, secret, buildTime, dotenv } = c.var.input
      // A form without the field decides by the name. For API clients, omitted means false.
      const byName = clientOf(c) === 'program' ? () => false : looksSecret
      const isSecret = (name: string) => secret ?? byName(name)
      if (dotenv) {
        const pairs = parseDotenv(dotenv)
        setVariables(db, secrets, {
          environmentId: environment.id,
          pairs,
          field: 'dotenv',
          isSecret,
          areSecret: secret === true,
        })
        const items = listVariables(db, environment.id).filter(({ key }) => pairs.has(key))
        for (const variable of items) {
          audit(c, 'variable.created', about(variable, of))
          await pause()
        }
        const said = `${counted(items.length, 'variable')} saved.`
        const json = () => ({ items: items.map(variableJson), nextCursor: null })
        return moveOn(c, { to, created: true, said, json })
      }
      const variable = insertVariable(db, secrets, {
        environmentId: environment.id,
        key: key!,
        value: value ?? '',
        secret: isSecret(key!),
        buildTime: buildTime ?? false,
      })
      audit(c, 'variable.created', about(variable, of))
      const location = `${to}/${variable.id}`
      const said = 'Variable saved.'
      return moveOn(c, { to, created: true, location, said, json: () => variableJson(variable) })
    })
    .route('/', variableTextRoutes(deps))
    .get('/envs/:envId/variables/:id', (c) => show(c, oneVariable(c, emptyDraft)))
    .put('/envs/:envId/variables/:id', ownFirst, input(variableUpdateForm, oneVariable), (c) => {
      const of = liveEnvironment(deps, c)
      const { environment } = of
      const current = findVariable(db, { id: c.req.param('id'), environmentId: environment.id })
      const { value, secret, buildTime, key } = c.var.input
      const variable = updateVariable(db, secrets, current, {
        key,
        // An empty field of a secret keeps the value, since the form can't show it.
        value: value !== null && value !== '' ? value : current.secret ? undefined : '',
        secret: secret === null ? false : secret,
        buildTime: buildTime === null ? false : buildTime,
      })
      audit(c, 'variable.changed', about(variable, of))
      const to = `/envs/${environment.id}/variables`
      return moveOn(c, { to, said: 'Variable saved.', json: () => variableJson(variable) })
    })
    .delete('/envs/:envId/variables/:id', (c) => {
      const of = liveEnvironment(deps, c)
      const environmentId = of.environment.id
      const variable = findVariable(db, { id: c.req.param('id'), environmentId })
      deleteVariable(db, secrets, variable)
      audit(c, 'variable.deleted', about(variable, of))
      const to = `/envs/${environmentId}/variables`
      return moveOn(c, { to, said: 'Variable deleted.', json: () => ({}) })
    })

  function newVariable(c: Context, draft: Draft) {
    const { environment } = ownEnvironment(deps, c)
    return {
      title: 'New variable',
      page: () => (
        <VariableModal environment={environment} variable={null} draft={shownAgain(draft, null)} />
      ),
    }
  }

  function oneVariable(c: Context, draft: Draft) {
    const { environment } = ownEnvironment(deps, c)
    const variable = findVariable(db, { id: c.req.param('id')!, environmentId: environment.id })
    return {
      title: variable.key,
      page: () => (
        <VariableModal
          environment={environment}
          variable={variable}
          draft={shownAgain(draft, variable)}
        />
      ),
      json: () => variableJson(variable),
    }
  }
}

/** Has the name and its environment, but never the value. */
const about = ({ id, key }: Variable, { project, environment }: OwnEnvironment) => ({
  object: { kind: 'variable' as const, id, name: `${key} of ${project.name} ${environment.name}` },
})

/** The form has the value of a secret no more: it must not be taken for one that stays. */
function shownAgain(draft: Draft, variable: Variable | null): Draft {
  const { key = '', value, secret = '' } = draft.values
  const isSecret = flagOf(secret) ?? variable?.secret ?? looksSecret(key)
  if (!isSecret || !value) return draft
  return {
    ...draft,
    values: { ...draft.values, secret: '1', value: '' },
    errors: { value: enterAgain, ...draft.errors },
  }
}

type VariableModalProps = { environment: Environment; variable: Variable | null; draft: Draft }

/** Adds a variable or changes one. A secret's field is empty, and if left empty the value stays. */
const VariableModal = ({ environment, variable, draft }: VariableModalProps) => (
  <ModalForm
    title={variable ? `Edit ${variable.key}` : 'New variable'}
    from={{ href: pathOf(environment), name: 'Variables' }}
    {...(variable
      ? { action: `${pathOf(environment)}/${variable.id}`, method: 'PUT' }
      : { action: pathOf(environment) })}
    submit={variable ? 'Save changes' : 'Add variable'}
    draft={draft}
  >
    <TextField
      name="key"
      label="Name"
      value={variable?.key}
      placeholder="DATABASE_URL"
      autocomplete="off"
      required
      autofocus
      code
    />
    <TextArea
      name="value"
      label="Value"
      value={variable?.value}
      secret="secret"
      {...(variable?.secret && {
        placeholder: '••••••••',
        hint: 'The value is secret and isn’t shown. Leave empty to keep it.',
      })}
      code
    />
    <Checkbox
      name="secret"
      label="Secret"
      value={variable?.secret ?? false}
      {...(!variable && { follows: { name: 'key', pattern: secretNames } })}
      hint="Stored encrypted, never shown again, and masked in logs."
    />
    <Checkbox
      name="build_time"
      label="Also use in builds"
      value={variable?.buildTime ?? false}
      hint="Passed to the Dockerfile as a build argument."
    />
  </ModalForm>
)

const pathOf = ({ id }: Environment) => `/envs/${id}/variables`
