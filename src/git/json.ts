import type { TokenOwner } from './providers/provider.ts'
import type { Source } from './store.ts'

export const sourceJson = ({ id, provider, name, baseUrl, login, createdAt }: Source) => ({
  id,
  provider,
  name,
  baseUrl,
  login,
  createdAt,
})

/** With what the provider says of the token; `rights` is null where it does not tell them. */
export const checkedSourceJson = (source: Source, { login, rights, missing }: TokenOwner) => ({
  ...sourceJson(source),
  login: login ?? source.login,
  rights,
  missing,
})
