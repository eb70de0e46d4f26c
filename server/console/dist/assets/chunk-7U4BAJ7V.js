import{g as e}from"./chunk-FGJDHSLG.js";var o={poses:null,second:null,reactions:[],ellipsoids:[],com:null,follow:!1},n=new e(o);export{o as a,n as b};
