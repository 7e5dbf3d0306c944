import { createContext, useContext } from 'hono/jsx'

/** The name of a user; null when an address is no user's, or they have set none. */
export type NameOf = (email: string) => string | null

/** Provided for each request. */
export const People = createContext<NameOf>(() => null)

/** A user's name, with their unique e-mail address in its tooltip. */
export const Person = ({ email }: { email: string }) => {
  const name = useContext(People)(email)
  return name ? (
    <bdi title={email}>
      {name}
      <span class="visually-hidden"> ({email})</span>
    </bdi>
  ) : (
    <bdi>{email}</bdi>
  )
}
