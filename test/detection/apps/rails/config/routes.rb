Rails.application.routes.draw do
  root 'pages#show'
end
