import { PageHead } from '../web/components.tsx'
import { schemaOf } from './document.ts'
import type { Operation } from './operation.ts'
import { ButtonLink } from '../web/form.tsx'

/** The API for people: every call with what it takes. */
export const ApiPage = ({ operations }: { operations: Operation[] }) => (
  <>
    <PageHead title="API">
      <ButtonLink variant="outline" href="/api/openapi.json">
        OpenAPI document
      </ButtonLink>
    </PageHead>
    <p class="subtitle">
      Send <code>Accept: application/json</code> and an <a href="/settings/tokens">API token</a> as{' '}
      <code>Authorization: Bearer dvt_…</code>. A form takes the same names in snake_case.
    </p>
    {[...Map.groupBy(operations, ({ tag }) => tag)].map(([tag, ofTag]) => (
      <section class="api-tag" aria-labelledby={`api-${tag}`}>
        <h2 id={`api-${tag}`}>{tag}</h2>
        {ofTag.map((operation) => (
          <OperationRow operation={operation} />
        ))}
      </section>
    ))}
  </>
)

const OperationRow = ({ operation }: { operation: Operation }) => (
  <details class="api-operation">
    <summary>
      <span class="api-method">{operation.method.toUpperCase()}</span>{' '}
      <code>{operation.path.replace(/:(\w+)/g, '{$1}')}</code>
      <span class="muted">{operation.summary}</span>
    </summary>
    {operation.query && <Schema title="Query" schema={operation.query} />}
    {operation.body && <Schema title="Body" schema={operation.body} />}
    {operation.answer && <Schema title="Answer" schema={operation.answer} />}
  </details>
)

const Schema = ({ title, schema }: { title: string; schema: NonNullable<Operation['body']> }) => (
  <>
    <h3>{title}</h3>
    <pre class="api-schema">{JSON.stringify(schemaOf(schema), null, 2)}</pre>
  </>
)
