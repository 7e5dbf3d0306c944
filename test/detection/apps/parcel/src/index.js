document.title = 'Parcel!'
